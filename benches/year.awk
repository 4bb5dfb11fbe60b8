# A year of jobs for `classmate simulate`: awk -f benches/year.awk [-v jobs=10000000] [-v cores=10000] [-v load=0.95]
# Workdays are busier than weekends: the queue grows until Friday and is empty on Monday. 100 users in 10 groups; run times are
# exponential; each job uses one core.
BEGIN {
    if (!jobs) jobs = 10000000
    if (!cores) cores = 10000
    if (!load) load = 0.95
    year = 364 * 86400
    mean = load * cores * year / jobs
    # Workdays 1.1, weekends 0.75 of the mean: five and two days of a week.
    work = 1.1 * 5 / 7; week = 7 * 86400; weeks = year / week
    srand(1)
    print "; Computer: a year of jobs by rule"
    print "; MaxProcs: " cores
    print "; MaxJobs: " jobs
    for (i = 1; i <= jobs; i++) {
        at = (i - 1) / jobs * weeks
        whole = int(at); part = at - whole
        inside = part < work ? part / work * 5 / 7 : 5 / 7 + (part - work) / (1 - work) * 2 / 7
        user = int(100 * rand())
        printf "%d %d -1 %d -1 -1 -1 1 -1 -1 1 %d %d -1 -1 -1 -1 -1\n", i, (whole + inside) * week, 1 - mean * log(1 - rand()), user, user % 10
    }
}
