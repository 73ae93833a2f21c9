"""Fine-tuning on labelled texts: text classification and word tagging."""
