"""The page Fill in the blank (BERT): Masked words, Next sentence, Question answering."""

from ui.pages.answers.page import draw_view as draw_answers
from ui.pages.masked_words.page import draw_view as draw_masked_words
from ui.pages.next_sentence.page import draw_view as draw_next_sentence
from ui.show.views import draw_page

draw_page({"masked_words": draw_masked_words, "next_sentence": draw_next_sentence, "answers": draw_answers})
