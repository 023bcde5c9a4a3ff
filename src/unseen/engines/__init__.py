"""Where work runs: in this process, in processes of this machine, on Ray."""

from unseen.engines.inline import Inline
from unseen.engines.local import Local
from unseen.engines.steps import Outcome, Step, Workspace, in_order
from unseen.registry import Registry

ENGINES = Registry(
    "engine",
    {
        "inline.v1": "unseen.engines.inline:Inline",
        "local.v1": "unseen.engines.local:Local",
        "ray.v1": "unseen.engines.ray:Ray",
    },
)

__all__ = ["ENGINES", "Inline", "Local", "Outcome", "Step", "Workspace", "in_order"]
