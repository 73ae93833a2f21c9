"""Pictures drawn without a browser: layouts of shapes, written as SVG or PNG."""
