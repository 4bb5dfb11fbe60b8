#!/usr/bin/env python3
"""Compares `classmate` on generated configuration files with `condor_config_val`.

    tests/differential/config.py --classmate target/debug/classmate --seed 1 --count 1000

Of each file, it compares whether it is read at all (`lint` reports an error, or not), and the values of its macros (`config get`). Prints
each disagreement with its seed, and `N files: M rejected, K disagreements`. Exit status 1 with disagreements, 77 if HTCondor cannot be
unpacked.
"""
import json, os, random, resource, subprocess, sys

import unpacked

NAMES = ['A', 'B', 'C', 'Mixed_Case', 'D.E']
VALUES = ['1', '5 * 3', 'text with  blanks', '$(A)', '$(B) and $(C)', '$(A:default)', '$(NOTHING)', '$(NOTHING:x$(A))', '"quoted $(B)"', '', '$$(Z)',
          '$INT(A)', '$INT(A,%04d)', '$REAL(B)', '$STRING(C)', '$SUBSTR(C,1)', '$SUBSTR(C,-3,2)', '$CHOICE(1,x,y,z)', '$Fn(A)', '$Fpn(C)', '$(DOLLAR)(A)',
          '/usr/lib/name.so', 'a/b/c.d', '# not a comment', 'x # y', '$(mixed_case)', '$(A)$(A)', 'last \\', '$ENV(NO_SUCH_NAME:none)', '$EVAL(1 + 2)',
          '$EVAL(A)', '$UNKNOWN(A)', '$(A', '$()', '100%', 'a=b=c', "it's", '$INT(5)', '7', '2.5', '$REAL(A,%.3f)']
LINES = ['this is not an assignment', 'NAME : value', '[section]', '# comment', '', '   ', '= 5', 'A B = 5', 'A-B = 5', '5A = 6', 'A.B.C = 7', '$(A) = 5', 'A @=end\n one\n two\n@end',
         'A @=end\n one\n@ends', 'B @=x\n$(A)\n\n# inside\n@x', 'A += more', 'A +, = more', 'A +,= more', 'A +&&= more', 'A =+ 5', 'A == 5', 'if true\nB = yes\nendif',
         'if false\nB = no\nelse\nB = other\nendif', 'if defined A\nB = defined\nelif true\nB = elif\nendif', 'if $(A)\nB = macro\nendif', 'if version >= 24.0\nB = new\nendif',
         'if version > 8\nendif', 'if a b\nendif', 'if\nendif', 'if 1\nB = one\nendif', 'if ! defined NOTHING\nC = not\nendif', 'if !true\nelse\nC = else\nendif', 'else', 'endif', 'elif true',
         'if true', 'if false\nif a b\nendif\nendif', 'if true\nelse\nelse\nendif', 'if false\nnot an assignment\nendif', 'include : /no/such/file', 'include ifexist : /no/such/file',
         'include nonsense : /x', 'use ROLE : Submit', 'use role:Execute', 'use ROLE : Nonsense', 'use NOTHING : x', 'use ROLE Submit', 'use POLICY : Always_Run_Jobs', '@use ROLE : Submit', 'use FEATURE : GPUs',
         'warning : hello', 'error : stop', 'error 3 : stop', 'A = 1 \\\n  2', 'A = 1 \\\n# comment\nB = 2', 'A = 1 \\\n# comment \\\n  2', 'A = 1 \\\n\nB = 3', ':A = 5', 'if true\n:A = 5\nendif', 'A=\tx\t', 'queue',
         'A = $(A) again', 'B = $INT(B)', 'C = $(D.E)', 'SUBSYS = x']


def generated(seed):
    pick = random.Random(seed)
    lines = []
    for _ in range(pick.randint(2, 7)):
        if pick.random() < 0.3:
            lines.append(pick.choice(LINES))
        else:
            lines.append(f'{pick.choice(NAMES)} = {pick.choice(VALUES)}')
    return '\n'.join(lines) + '\n'


def small():
    """Limits a process: macros that refer to each other let condor_config_val grow without end."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))


def main():
    options, root, folder = unpacked.begin(__doc__, 'values')
    path = os.path.join(folder, 'condor_config')
    names = [name for name in NAMES if '.' not in name]
    command = ['chroot', root, '/usr/bin/env', 'CONDOR_CONFIG=/srv/values/condor_config', 'TZ=UTC', 'condor_config_val']
    rejected = differences = 0
    for seed in range(options.seed, options.seed + options.count):
        text = generated(seed)
        with open(path, 'w') as file:
            file.write(text)
        faults = []
        values = {}
        refused, reason = False, ''
        for name in names:
            done = subprocess.run(command + [name], capture_output=True, text=True, preexec_fn=small)
            reason = done.stderr.strip()
            # A macro that cannot be expanded is an error of lint, and ends a daemon; the tool goes on without it.
            refused = 'ERROR "' in reason or done.returncode != 0 and ('Not defined' not in reason or done.returncode < 0)
            if refused:
                break
            values[name] = done.stdout.rstrip('\n') if done.returncode == 0 else None
        rejected += refused
        # lint leaves out files that it cannot expect here.
        if refused and "can't open file" in reason:
            continue
        checked = subprocess.run([options.classmate, 'lint', '--as', 'config', '--format', 'json', path], capture_output=True, text=True)
        errors = [alarm for alarm in json.loads(checked.stdout)['alarms'] if alarm['severity'] == 'error']
        # HTCondor reads a comment inside of a value, `$(A` without its end, and a part of nothing: lint reports them as errors,
        # because nobody means them.
        odd = 'comment-in-value', 'leftover-macro'
        meant = [error for error in errors if error['code'] not in odd and '`$SUBSTR' not in error['message']]
        if bool(meant) != refused:
            faults.append(f'lint: {meant[0]["message"] if meant else "no error"}')
        for name, value in values.items() if not refused else []:
            got = subprocess.run([options.classmate, 'config', 'get', name, path], capture_output=True, text=True)
            found = got.stdout.rstrip('\n') if got.returncode == 0 else None
            # A tool does not tell an empty value from none.
            if 'SUBSTR' in got.stderr:
                continue
            if (found or '').strip() != (value or '').strip():
                faults.append(f'{name}: condor_config_val {value!r}, classmate {found!r}')
        if faults:
            differences += 1
            print(f'--- seed {seed}: condor_config_val {"rejects" if refused else "reads"} it\n{text}{reason}\n{chr(10).join(faults)}\n')
    print(f'{options.count} files: {rejected} rejected, {differences} disagreements')
    sys.exit(differences > 0)


if __name__ == '__main__':
    main()
