"""Everyday questions that SmolLM2 answers at length; the last 20 are held out. Written for this course."""

QUESTIONS = """
Why is the sky blue?
How do I boil an egg?
What is a good breakfast?
Why do cats purr?
How does a bicycle stay upright?
What should I take on a hike?
Why do leaves change colour in autumn?
How can I sleep better?
What is the use of a diary?
Why is bread sour sometimes?
How do I keep basil alive?
What makes a good friend?
Why do we yawn?
How do magnets work?
What is a glacier?
Why do onions make us cry?
How can I learn to draw?
What causes the tides?
How do bees make honey?
Why is the sea salty?
How do I write a letter of thanks?
What is a fair price for a used bicycle?
How does soap clean?
Why do we need salt?
What is a volcano?
How do I clean a window?
Why do dogs bark?
How is paper made?
What is a compass good for?
How do I choose a book for a child?
Why does iron rust?
What is the difference between a crow and a raven?
How do I start to run?
Why do stars twinkle?
What is a good name for a boat?
How does a refrigerator cool?
What is yeast?
Why do we forget names?
How do I fold a shirt?
What is a rainbow?
How do I make tea?
Why does the moon change its shape?
What is a good hobby for winter?
How do birds find their way?
Why is snow white?
How can I remember a phone number?
What is a desert?
How do I repair a puncture?
Why do we dream?
What does a gardener do in spring?
How does a lock work?
What is thunder?
Why do people travel?
How do I learn ten new words?
What is a bridge made of?
How does a candle burn?
Why do fish have scales?
What is a market?
How do I prepare for an exam?
What is chess?
"""


def questions(count: int = 60) -> tuple[list[str], list[str]]:
    """(training, held out): two thirds and one third of so many."""
    rows = QUESTIONS.strip().splitlines()[-count:]
    return rows[: 2 * len(rows) // 3], rows[2 * len(rows) // 3 :]
