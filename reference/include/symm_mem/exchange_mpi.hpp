#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "symm_mem/exchange.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// Messages over MPI, descriptors over Unix sockets. For programs that are MPI programs anyway, and
// for ranks that mpirun or srun start. Needs no mpi.h of its user.

// This process as a rank of MPI_COMM_WORLD.
struct MpiJob {
  int rank = 0;
  int size = 1;
  bool started = false;  // start_mpi initialized MPI, so finish_mpi finalizes it
};

// Initializes MPI, unless the program has. Collective. MPI can be started once a process.
Result<MpiJob> start_mpi();
// Finalizes MPI if start_mpi initialized it. Collective; every exchange has been destroyed.
Status finish_mpi(const MpiJob& job);

// An exchange over all ranks of MPI_COMM_WORLD, on a communicator of its own. Collective. MPI has
// been initialized, and calls it from this thread only. `directory` is for the sockets that carry
// descriptors, as open_unix_exchange says, the same on all ranks of a host; where it is empty the
// root makes one under $TMPDIR's default (/tmp) and tells the others, and removes it in the end.
//
// A wait polls MPI, and yields the processor meanwhile. MPI does not tell of a rank's death: it
// shows as the wait's deadline, and under mpirun as the end of the job.
Result<std::unique_ptr<Exchange>> open_mpi_exchange(
    const std::string& directory, std::chrono::nanoseconds startup = std::chrono::seconds(30));

}  // namespace symm_mem
