"""How each question is answered: one module for each module of inference/tasks/, under the same name. torch."""
