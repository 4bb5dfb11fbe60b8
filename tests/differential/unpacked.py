"""The options of a comparison of generated files, and the folder in an unpacked HTCondor that they are written to."""
import argparse, os, subprocess, sys


def begin(description, name):
    """Reads the options, and makes the folder `/srv/NAME`; returns the options, the root and the folder. Exits with 77 without HTCondor."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--classmate', default='target/debug/classmate')
    options.add_argument('--seed', type=int, default=1)
    options.add_argument('--count', type=int, default=1000)
    options = options.parse_args()
    unpacked = subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), 'pool.sh')], capture_output=True, text=True)
    if unpacked.returncode != 0:
        sys.exit(77)
    root = unpacked.stdout.strip()
    folder = os.path.join(root, 'srv', name)
    os.makedirs(folder, exist_ok=True)
    return options, root, folder
