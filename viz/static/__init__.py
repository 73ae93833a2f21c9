"""Pictures that are drawn without a browser: shapes laid out once, written as SVG or painted as PNG."""
