"""What strangers may send, made up by the million: every door answers it, or refuses it in a sentence."""
