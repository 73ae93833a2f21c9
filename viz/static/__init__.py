"""Pictures drawn without a browser: a layout of shapes, written as SVG or PNG."""
