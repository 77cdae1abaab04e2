"""How soon the first picture of each lecture's page is seen: python -m tests.autograder.site.first_picture [SITE]

Served from this machine to a Chromium whose processor is slowed four times. Two columns: seconds until the picture is
seen, which need a machine that does nothing else; and four times the processor seconds of the page's main thread, which
any machine can tell.
"""

import sys
from pathlib import Path
from typing import Any

from tests.autograder.site.browsing import started
from tests.autograder.site.serving import served

SLOWER = 4
SEEN = """(() => {
  const look = () => {
    const first = document.querySelector('main svg, main img');
    if (first && first.getBoundingClientRect().height && first.complete !== false)
      requestAnimationFrame(() => requestAnimationFrame(() => { window.firstPicture = performance.now(); }));
    else requestAnimationFrame(look);
  };
  look();
})()"""


def seconds(chromium: Any, address: str, slower: int) -> tuple[float, float]:
    """(until the first picture is seen, of the main thread's processor until then)"""
    page = chromium.new_page(viewport={"width": 1366, "height": 768})
    page.set_default_timeout(120_000)
    tools = page.context.new_cdp_session(page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.add_init_script(SEEN)
    page.goto(address, wait_until="commit")
    page.wait_for_function("() => window.firstPicture")
    told = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    seen = page.evaluate("window.firstPicture") / 1000
    page.close()
    return float(seen), float(told["TaskDuration"])


def main(site: Path) -> None:
    print("  seen  processor × 4")
    with served(site) as address, started() as chromium:
        for path in sorted(site.glob("lectures/[0-9]*.html")):
            to = f"{address}/lectures/{path.name}"
            seen = min(seconds(chromium, to, SLOWER)[0] for _ in range(3))
            busy = min(seconds(chromium, to, 1)[1] for _ in range(3))
            print(f"{seen:5.2f} s  {SLOWER * busy:5.2f} s  {path.stem}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "site"))
