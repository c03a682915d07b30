"""Makes the Blender environment; `steps.py` lists what is done, in order."""
