#!/usr/bin/env python3
"""Compares the verdict of `classmate lint` on generated submit files with that of `condor_submit -dry-run`.

    tests/differential/submit.py --classmate target/debug/classmate --seed 1 --count 1000

A file is rejected by `condor_submit` if it exits with a status other than 0, or does not end; by lint if it has an error. Files
that make no jobs are left out: nothing in them is looked at. Prints each disagreement with its seed, and `N files: M rejected, K disagreements`. Exit status 1 with disagreements, 77 if HTCondor cannot be unpacked.
"""
import json, os, random, subprocess, sys

import unpacked

CONFIG = """LOCAL_DIR = /srv/dry
RELEASE_DIR = /usr
LIB = /usr/lib/condor
LOG = /tmp
SPOOL = /srv/dry
CONDOR_HOST = 127.0.0.1
UID_DOMAIN = x
FILESYSTEM_DOMAIN = x
"""

BOOLEAN = 'True false 1 0 yes no T !false 2>1 on maybe "true" 1.5'.split()
NUMBER = ['5', '0', '-1', '2.5', '3 * 2', 'ten', '"5"', '5 5', 'true', '10k', '$(N)']
EXPRESSION = ['Memory > 1024', 'Cpus > 1 && OpSys == "LINUX"', 'Cpus > 1 &&', '(Cpus > 1', 'Cpus > 1)', '"text"', 'a b', 'true', 'undefined',
              'Memory > 2G', 'ifThenElse(Cpus > 1, 2, 3)', 'x = 5', 'Cpus > $(N)', 'Owner == \'a\'', 'regexp("a*", Name)', '1 +', '5 # five',
              'Cpus > 1 and Disk > 5', 'TARGET.Cpus =?= 4', '{1, 2}', '[a = 1]', '-Cpus', '!', 'size("a"', '5 % 2', 'a.b.c', '"a\\"b"', '"open']
SIZE = ['2G', '2GB', '2 GB', '1024', '2.5G', '2GiB', '2X', '10%', 'MemoryUsage * 2', '1e3', '2 G B', '$(N)', '"2"', '-1']
WORDS = {
    'universe': 'vanilla VANILLA local scheduler standard globus pvm 5 7 12 3 vanila docker container java grid vm parallel "vanilla"'.split(),
    'notification': 'never NEVER always complete error start errors none no'.split(),
    'should_transfer_files': 'YES no if_needed TRUE never IF-NEEDED yess'.split(),
    'when_to_transfer_output': 'ON_EXIT on_exit_or_evict ON_SUCCESS ON-EXIT ONEXIT NEVER ON_EXIT_AND_EVICT'.split(),
    'kill_sig': 'SIGTERM 9'.split(),
    'accounting_group': ['physics', 'physics.lhc', 'a b', 'a-b'],
    'concurrency_limits': ['a', 'a:2, b', 'a-b', '5', 'a b', '(x'],
    'arguments': ['a b', '"a b"', '"a', 'a"b', 'a \\"b\\"', '"a \'b c\' d"', '"a \'b"', '"a"b"', '"a ""b"" c"', "'a b'", '"a" "b"', '$(N)', ''],
    'environment': ['A=1', 'A=1;B=2', 'A', '"A=1 B=2"', '"A=1', '"A=\'x y\'"', '"A=\'x y"', 'A=1;;', '"A"', '"A=1 B"', 'A=1;B', ''],
    'cuda_version': ['11', '11.5', 'x', '11.5.1'],
    'transfer_input_files': ['a.txt', 'a.txt, b.txt', ''],
    'container_image': ['docker://debian:12', 'image.sif'], 'docker_image': ['debian:12'], 'machine_count': ['2'],
    'grid_resource': ['condor a b', 'batch slurm'], 'job_batch_name': ['a b'], 'getenv': ['true', 'PATH,HOME'], 'log': ['a.log'],
}
KINDS = {
    'stream_output': BOOLEAN, 'nice_user': BOOLEAN, 'hold': BOOLEAN, 'run_as_owner': BOOLEAN, 'preserve_relative_paths': BOOLEAN,
    'priority': NUMBER, 'max_retries': NUMBER, 'success_exit_code': NUMBER, 'coresize': NUMBER, 'max_idle': ['5', 'ten'],
    'requirements': EXPRESSION, 'rank': EXPRESSION, 'periodic_hold': EXPRESSION, 'periodic_remove': EXPRESSION, 'on_exit_remove': EXPRESSION,
    'leave_in_queue': EXPRESSION, 'periodic_hold_reason': EXPRESSION, 'next_job_start_delay': EXPRESSION, '+Tag': EXPRESSION, 'MY.Tag': EXPRESSION,
    'retry_until': EXPRESSION, 'noop_job': EXPRESSION, 'job_max_vacate_time': EXPRESSION,
    'request_memory': SIZE, 'request_disk': SIZE, 'request_cpus': EXPRESSION + ['2', '4'], 'request_gpus': ['1', '1 + 1', 'one two'],
    'request_licenses': ['1', '2G', 'a b'],
}
LINES = ['this is not a command', 'executable : /bin/sleep', '+Tag', '+ Tag = 1', 'my attr = 3', 'my-attr = 3', '$x = 3', '= 3', 'a.b = 3',
         'x @=end\n a\n b\n@end', 'error : stop', 'warning : hello', 'A = $(B)\nB = $(A)\narguments = $(A)', 'N = 5', 'M = $(N)',
         'requirements = Cpus > 1 && \\\n  Memory > 5', 'requirements = Cpus > 1 && \\\n# no\n  Memory > 5', '# a comment', '', 'arguments += 2',
         'if true\n  request_cpus = 2\nendif', 'if defined N\n  request_cpus = 2\nelse\n  request_cpus = 1\nendif', 'endif', 'else', 'if a b\nendif',
         'if $(N) == 3\nendif', 'if version >= 8.1\nendif', 'if true && false\nendif', 'if true\nelse\nelse\nendif', 'if ! defined N\nendif',
         'if false\nelif true\nendif', 'elseif true', 'end if', 'if true', 'request_cpus == 2', '   request_cpus   =   2  ',
         'use strict : harsh', 'use STRICT : maybe', 'use foo : bar', 'use strict harsh', '@use strict : true', 'include foo : /x',
         'if version > 8\nendif', 'if version 24.0.1\nendif', 'if yes\nendif', 'if $(N)\nendif', 'if $(NOTHING)\nrequest_cpus = 2\nendif', 'if foo\nendif', 'if\nendif', 'if false\nelif a b\nendif',
         'if true\nelif a b\nendif', 'if false\nif a b\nendif\nendif', 'if true\nif a b\nendif\nendif', 'if false\nuniverse = foo\nendif', 'if false\nnot a command\nendif', 'if 0\nrank = 1 +\nendif',
         'if ! true\nrank = 1 +\nelse\nrank = 2\nendif', 'if defined N\nrank = 1 +\nendif', 'if version >= 99.0.0\nendif', 'arguments +&&= 5', 'arguments +,= 5', 'arguments ||= 5', '$(M)y = 5', '-foo = 5', ':foo = 5',
         'JOB A a.sub', 'requirements = MY.Requirements', 'requirements = Requirements && Cpus > 1', 'requirements = Cpus > 1\nrequirements = Memory > 2G', 'rank = 1 +\nrank = 2', 'rank = 1 +\nrank = $(rank)',
         'kill_sig = SIGFOO', 'kill_sig = 99', 'kill_sig = 15', 'remove_kill_sig = hup', 'deferral_time = tomorrow', 'deferral_time = 1.5', 'deferral_time = -5', 'deferral_time = "5"', 'deferral_time = 5 + 5',
         'cron_minute = 70', 'cron_minute = */5', 'image_size = big', 'image_size = 10 GB', 'skip_filechecks = maybe', 'skip_filechecks = warn', 'output_destination = a\noutput_directory = b',
         'concurrency_limits = a\nconcurrency_limits_expr = "a"', 'container_image = a\ndocker_image = b', 'notify_user = never', 'retry_until = 1 +', 'retry_until = 5', 'success_exit_code = 99999999999',
         'request_memory = 1G, 2G', 'request_memory = 1G, Memory * 2', 'environment = A=1 B=2', '+request_gpus = 1', 'request_gpus = one', 'log = $(Cluster.log', 'x = 1\ny = $(x)']
QUEUES = ['queue', 'queue 5', 'QUEUE 2', 'queue $(N)', 'queue 2 + 1', 'queue (3)', 'queue -1', 'queue 5x', 'queue many', 'queue 2 3', 'queue 0',
          'queue x in (a b)', 'queue x in a, b', 'queue in (a b)', 'queue x from (\na\nb\n)', 'queue x, y from (\na, 1\nb, 2\n)', 'queue 3 x in (a b)',
          'queue x matching dirs /*', 'queue x in', 'queue x from', 'queue = 5', 'queue 5;', 'queue 5 # five', 'queue x in (a b', 'queue x in [1:] (a b)',
          'queue\nqueue 2', 'queue\nrequest_cpus = 2', 'queue x', 'queue 2.5', '', 'iterate 3', 'iter x in (a b)', 'queue x from table(csv) (\na,b\n1,2\n)',
          'queue x in [0:1] a b', 'queue x in [::2] (a b)', 'queue x in [z] (a b)', 'queue x in files a b', 'queue x from any a', 'queue x matching any /bin/s*',
          'queue 2x in (a b)', 'queue x-y in (a b)', 'queue x y in (a b)', 'queue x_1 in (a b)', 'queue x1 in (a b)', 'queue x in (a, b\nc)', 'queue x in (x,\n y )',
          'queue x in (a, b\n# comment\n )', 'queue x in ( a\nb)\n)', 'queue x in (a b) c\n)', 'queue x in(a b)', 'queue x IN (a b)', 'queue x in ()', 'queue x from (\n)',
          'queue x from (a b)', 'queue 3 from (a b)', 'queue a,b from (\nx\ny\n)', 'queue $(N) x in (a b)', 'queue 1 + 1 x in (a b)', 'queue x from ( a\nb\n)', 'queue (2) x in (a b)',
          'queue 9999999999', 'queue x in \\\n(a b)', 'Queue\tx\tin\ta b', 'queue x in a b # c', 'queue x matching dirs (/usr/*)', 'queue x,in (a)']


def generated(seed):
    pick = random.Random(seed)
    # Macros that a file does not set may come from the configuration or a DAG: they are set.
    lines = ['N = 5'] if pick.random() < 0.03 else ['executable = /bin/sleep', 'N = 5']
    for _ in range(pick.randint(1, 3)):
        kind = pick.random()
        if kind < 0.2:
            lines.append(pick.choice(LINES))
        else:
            name = pick.choice(list(WORDS) if kind < 0.5 else list(KINDS))
            values = WORDS.get(name) or KINDS[name]
            # Mostly right, so that one mistake decides.
            value = values[0] if pick.random() < 0.35 else pick.choice(values)
            lines.append(f'{name} = {value}')
    lines.append('queue' if pick.random() < 0.6 else pick.choice(QUEUES))
    return '\n'.join(lines) + '\n'


def main():
    options, root, folder = unpacked.begin(__doc__, 'dry')
    with open(os.path.join(folder, 'condor_config'), 'w') as config:
        config.write(CONFIG)
    path = os.path.join(folder, 'job.sub')
    command = ['chroot', root, '/usr/bin/env', 'CONDOR_CONFIG=/srv/dry/condor_config', 'condor_submit', '-dry-run', '/dev/null',
               '/srv/dry/job.sub']
    rejected = differences = 0
    for seed in range(options.seed, options.seed + options.count):
        text = generated(seed)
        with open(path, 'w') as file:
            file.write(text)
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10)
            refused, reason = done.returncode != 0, done.stderr
        except subprocess.TimeoutExpired:
            refused, reason = True, 'it does not end'
        rejected += refused
        done = subprocess.run([options.classmate, 'lint', '--as', 'submit', '--format', 'json', path], capture_output=True, text=True)
        errors = [alarm for alarm in json.loads(done.stdout)['alarms'] if alarm['severity'] == 'error']
        # Without jobs, condor_submit does not look at the values of commands; and of the options, lint knows the file alone.
        if 'no jobs queued' in reason:
            continue
        # Without a program and `queue`, the file may be a part of another one.
        if "No 'executable'" in reason and 'queue' not in text.lower() and 'iter' not in text:
            continue
        if bool(errors) != refused:
            differences += 1
            said = errors[0]['message'] if errors else 'no error'
            print(f'--- seed {seed}: condor_submit {"rejects" if refused else "takes"} it, lint: {said}\n{text}{reason.strip()}\n')
    print(f'{options.count} files: {rejected} rejected, {differences} disagreements')
    sys.exit(differences > 0)


if __name__ == '__main__':
    main()
