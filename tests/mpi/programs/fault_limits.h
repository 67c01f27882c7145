// What can be taken from a process once MPI runs, which needs much of it to start.
#pragma once

/// `text`: KEY=VALUE with commas between. nofile: so many descriptors are left; nproc: threads and
/// processes of this user; memory: so many bytes of addresses are left; dumpable=0: other processes
/// may not look into this one; fill=PATH: rank 0 fills the file system with this file.
void take_away(const char* text, int rank);
/// What MPI needs to end.
void give_back(void);
