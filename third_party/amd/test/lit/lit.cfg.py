"""lit configuration: finds the suite in the build folder."""

import os

root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))
built = os.path.join(root, os.environ.get("TILE_BUILD", "build"))
site = os.path.join(built, "third_party", "amd", "test", "lit", "lit.site.cfg.py")
if not os.path.exists(site):
    lit_config.fatal(f"there is no {site}: build first, or name the build folder in TILE_BUILD")
lit_config.load_config(config, site)
