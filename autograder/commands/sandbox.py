"""`doctor`'s section on the sandbox: which walls are real here, tried and not believed; what is missing.

python -m autograder.commands.sandbox
"""

import sys


def main() -> int:
    """Print the section. 0: students' code is contained here; 1: it is not, or not by all that was tried."""
    from autograder.box import BoxFault, probe

    try:
        facts = probe()
    except BoxFault as fault:
        print(f"sandbox      does not start: {fault}")
        return 1
    if facts.tier is None:
        print("sandbox      none: `grade` refuses to run students' code here")
    else:
        held = sum(one.stopped for one in facts.attempts)
        print(f"sandbox      {facts.tier.name}: {held} of {len(facts.attempts)} attempts to break out were stopped;")
        print(f"             an empty notebook costs {facts.seconds:.2f} s")
    for line in facts.missing.splitlines():
        print(f"  ! {line.strip()}")
    for one in facts.attempts:
        if not one.stopped:
            print(f"  ! a notebook can {one.what} ({one.said})")
    return 0 if facts.holds else 1


if __name__ == "__main__":
    sys.exit(main())
