"""How each question is answered: one module for each module of inference/questions/, under the same name. torch."""
