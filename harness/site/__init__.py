"""The leaderboard as a static site, with the records from which `pgdl verify` computes the site again."""

from harness.site.data import TITLE, SiteData, gather, records_of
from harness.site.on_submission import submission_pages
from harness.site.pages import paths_of
from harness.site.verify import verify_site
from harness.site.write import replace_content, require_replaceable, write_report, write_site

__all__ = [
    "TITLE", "SiteData", "gather", "paths_of", "records_of", "replace_content",
    "require_replaceable", "submission_pages", "verify_site", "write_report", "write_site",
]  # fmt: skip
