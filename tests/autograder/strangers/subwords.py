RIGHT = []
WRONG = []
