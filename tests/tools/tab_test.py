#!/usr/bin/env python3
"""tab_test.py SHELL PROGRAM: presses Tab in a shell, and compares what the shell writes into the line.

The shell (bash, zsh or fish) runs on a pseudo-terminal with a home folder of its own. Each case types
a command line, presses Tab, and reads the line back through a key that stores it in a file. With
--installed, the shell loads the completion of the installed package, as it does for a user; without
it, the completion comes from `PROGRAM completion SHELL`. Exits with status 77 if the shell is missing.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

#: The seconds after which a shell that does not respond is reported.
PATIENCE = 60
PROMPT = "READY> "
STORE_LINE = "\x14"  # Ctrl-T
CLEAR_LINE = "\x05\x15"  # Ctrl-E, Ctrl-U; Ctrl-C would also stop a function of the shell
LEFT = "\x02"  # Ctrl-B

FILES = ["mine.textproto", "my file.textproto", "a.tutti", "sub dir/deep.tutti", "plain/in.textproto",
         "notes.txt", "other.log", "my.tutti-algorithm", "home/home.textproto", "home/runs/deep.tutti",
         "v@1.textproto", "größe.xml"]

#: What is typed, with | at the cursor if it is not at the end; and the line after Tab.
CASES = [
    ("tutti simu", "tutti simulate "),
    ("tutti import nccl-t", "tutti import nccl-topology "),
    ("tutti help simu", "tutti help simulate "),
    ("tutti manual sw", "tutti manual sweep "),
    ("tutti simulate mine.textproto --netw", "tutti simulate mine.textproto --network-model "),
    ("tutti simulate --network-model fi", "tutti simulate --network-model fifo "),
    ("tutti simulate --network-model=fi", "tutti simulate --network-model=fifo "),
    ("tutti perf -d hal", "tutti perf -d half "),
    # The names of files, by their endings.
    ("tutti simulate mi", "tutti simulate mine.textproto "),
    ("tutti simulate plain/", "tutti simulate plain/in.textproto "),
    ("tutti compare a", "tutti compare a.tutti "),
    ("tutti calibrate mine.textproto --log=ot", "tutti calibrate mine.textproto --log=other.log "),
    ("tutti manual --folder pl", "tutti manual --folder plain/"),
    ("tutti simulate ~/ho", "tutti simulate ~/home.textproto "),
    ("tutti compare ~/ru", "tutti compare ~/runs/"),
    ("tutti simulate mine.textproto > no", "tutti simulate mine.textproto > notes.txt "),
    ("tutti simulate mine.textproto 2> no", "tutti simulate mine.textproto 2> notes.txt "),
    ("tutti simulate mine.textproto &> no", "tutti simulate mine.textproto &> notes.txt "),
    ("tutti simulate mine.textproto>no", "tutti simulate mine.textproto>notes.txt "),
    ("tutti simulate 2>notes.txt mi", "tutti simulate 2>notes.txt mine.textproto "),
    ("tutti simulate 2>&1 > notes.txt mi", "tutti simulate 2>&1 > notes.txt mine.textproto "),
    # Paths with spaces, with and without quotes.
    ("tutti simulate my", "tutti simulate my\\ file.textproto "),
    ("tutti compare sub", "tutti compare sub\\ dir/"),
    ("tutti compare sub\\ dir/", "tutti compare sub\\ dir/deep.tutti "),
    ('tutti compare "sub dir/', 'tutti compare "sub dir/deep.tutti" '),
    ("tutti compare 'sub dir/de", "tutti compare 'sub dir/deep.tutti' "),
    ("tutti compare sub\\ dir/deep.tutti a", "tutti compare sub\\ dir/deep.tutti a.tutti "),
    # Fields and their values, and names of shipped machines, models and algorithms.
    ("tutti simulate mine.textproto --set strat", "tutti simulate mine.textproto --set strategy."),
    ("tutti simulate mine.textproto --set strategy.sha", "tutti simulate mine.textproto --set strategy.shards="),
    ("tutti simulate --set=cluster.workers.machine=dgx-a1", "tutti simulate --set=cluster.workers.machine=dgx-a100 "),
    ("tutti simulate --set strategy.custom.file=my.t", "tutti simulate --set strategy.custom.file=my.tutti-algorithm "),
    ("tutti init --machine hgx-h1", "tutti init --machine hgx-h100 "),
    ("tutti init --model vgg16_to", "tutti init --model vgg16_torchvision "),
    ("tutti init --algorithm halv", "tutti init --algorithm halving_doubling "),
    ("tutti sweep mine.textproto --over strategy=nccl,horo", "tutti sweep mine.textproto --over strategy=nccl,horovod "),
    ("tutti perf mine.textproto --algorithms ring,sw", "tutti perf mine.textproto --algorithms ring,swing "),
    ("tutti perf mine.textproto --algorithms größe.xml,sw", "tutti perf mine.textproto --algorithms größe.xml,swing "),
    ("tutti perf mine.textproto --algorithms größe.xml,my.t",
     "tutti perf mine.textproto --algorithms größe.xml,my.tutti-algorithm "),
    # A word in the middle of the line, after "--", after an alias, after an assignment, after ";".
    ("tutti simu| mine.textproto", "tutti simulate mine.textproto"),
    ("tutti simulate --netw| fifo mine.textproto", "tutti simulate --network-model fifo mine.textproto"),
    ("tutti simulate -- mi", "tutti simulate -- mine.textproto "),
    ("tutti simulate -- --netw", "tutti simulate -- --netw"),
    ("t simu", "t simulate "),
    ("ts mi", "ts mine.textproto "),
    ("ts mine.textproto --netw", "ts mine.textproto --network-model "),
    ("RATE=1 tutti simu", "RATE=1 tutti simulate "),
    ("echo x; tutti simu", "echo x; tutti simulate "),
]

#: Cases in bash alone. bash replaces variables by their values. Without bash-completion, it also
#: writes a backslash before '@', which has no effect.
BASH_CASES = [
    ("tutti simulate $HOME/ho", "tutti simulate HOME/home.textproto "),
    ("tutti simulate ${HOME}/ho", "tutti simulate HOME/home.textproto "),
    ("tutti compare $HOME/ru", "tutti compare HOME/runs/"),
    ("tutti simulate v@", "tutti simulate v@1.textproto "),
]

#: What is typed, and words that the shell then lists.
LISTS = [
    ("tutti ", ["simulate", "sweep", "validate"]),
    ("tutti init --model vgg16_t", ["vgg16_tf_cnn_benchmarks", "vgg16_torchvision"]),
    ("tutti simulate --set strategy.tensorflow.", ["multi_worker_mirrored", "tf_cnn_benchmarks"]),
]

SETTINGS = {
    "bash": """PS1='READY> '
bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 1000'; bind 'set page-completions off'
bind 'set enable-bracketed-paste off'
bind -x '"\\C-t": printf "%s\\n." "$READLINE_LINE" >line'
{completion}
alias t=tutti ts='tutti simulate'
complete -o bashdefault -F _tutti t ts
""",
    "zsh": """PS1='READY> ' LISTMAX=1000
unset zle_bracketed_paste
autoload -Uz compinit; compinit -u -D
{completion}
store_line() {{ print -rn -- "$BUFFER"$'\n.' >line }}
zle -N store_line
bindkey '^T' store_line
alias t=tutti ts='tutti simulate'
""",
    "fish": """set fish_greeting
function fish_prompt; printf 'READY> '; end
{completion}
function store_line; printf '%s\n.' (commandline) >line; end
bind \\ct store_line
alias t=tutti
alias ts='tutti simulate'
""",
}
LOADED = {"bash": "source <(tutti completion bash)", "zsh": "source <(tutti completion zsh)",
          "fish": "tutti completion fish | source"}
LOADED_WHEN_INSTALLED = {"bash": "source /usr/share/bash-completion/bash_completion; _completion_loader tutti",
                         "zsh": "", "fish": ""}


class Shell:
    """A shell on a pseudo-terminal, in a folder with FILES."""

    def __init__(self, kind: str, program: Path, folder: Path, installed: bool):
        self.folder = folder
        home = folder / "home"
        completion = (LOADED_WHEN_INSTALLED if installed else LOADED)[kind]
        place = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}[kind]
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        # Without this folder, fish generates completions from manual pages in the background.
        (home / ".local/share/fish/generated_completions").mkdir(parents=True)
        (home / place).write_text(SETTINGS[kind].format(completion=completion))
        environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(home), "TERM": "xterm", "LANG": "C.UTF-8",
                       "INPUTRC": "/dev/null"}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
            os.execvpe(kind, [kind, "-i"], environment)
        self.shown = ""

    def read(self) -> None:
        if select.select([self.terminal], [], [], 0.05)[0]:
            text = os.read(self.terminal, 1 << 16).decode(errors="replace")
            self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|[\r\x07]", "", text)

    def wait(self, done, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                raise TimeoutError(f"{what}; the terminal shows:\n{self.shown}")
            self.read()

    def type(self, keys: str) -> None:
        # While a shell executes a command, the terminal itself processes control characters.
        self.wait(lambda: not termios.tcgetattr(self.terminal)[3] & termios.ICANON, "the shell does not read keys")
        os.write(self.terminal, keys.encode())

    def line_after_tab(self, typed: str) -> str:
        before, _, after = typed.partition("|")
        line = self.folder / "line"
        self.type(CLEAR_LINE + before + after + LEFT * len(after) + "\t" + STORE_LINE)
        self.wait(lambda: line.exists() and line.read_text().endswith("\n."), f"Tab after {typed!r}")
        text = line.read_text()
        line.unlink()
        return text.removesuffix("\n.")

    def list_after_tab(self, typed: str, words: "list[str]") -> None:
        self.shown = ""
        self.type(CLEAR_LINE + typed + "\t")
        self.wait(lambda: all(word in self.shown for word in words), f"no list of {words} after {typed!r}")

    def end(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def differences(kind: str, program: Path, folder: Path, installed: bool) -> int:
    shell = Shell(kind, program, folder, installed)
    wrong = 0
    try:
        shell.wait(lambda: PROMPT in shell.shown, "no prompt")
        for typed, expected in CASES + (BASH_CASES if kind == "bash" else []):
            expected = expected.replace("HOME", str(folder / "home"))
            line = shell.line_after_tab(typed).replace("\\@", "@")
            # zsh adds a blank in the middle of a line, too.
            if kind == "zsh" and "|" in typed:
                line = line.replace("  ", " ")
            if line != expected:
                print(f"{kind}: Tab after {typed!r}\n  gives   {line!r}\n  and not {expected!r}")
                wrong += 1
        for typed, words in LISTS:
            shell.list_after_tab(typed, words)
    finally:
        shell.end()
    return wrong


def main() -> int:
    kind, program = sys.argv[1], Path(sys.argv[2])
    if shutil.which(kind) is None:
        print(f"{kind} is not installed")
        return 77
    folder = Path(tempfile.mkdtemp(prefix="tutti_tab_"))
    try:
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        wrong = differences(kind, program, folder, "--installed" in sys.argv)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines = len(CASES) + (len(BASH_CASES) if kind == "bash" else 0)
    print(f"{lines} lines and {len(LISTS)} lists in {kind}: {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
