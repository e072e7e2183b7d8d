VOWELS = "a"


def kind_of(word):
    return "vowel" if word[0] in VOWELS else "other"
