/* What the software platform's libcuda.so.1 exports beyond the CUDA driver API.
 *
 * Every symbol is optional for a client: look it up with dlsym, and do nothing where it is absent
 * (a real driver). None of them changes what a CUDA call means; they tell the platform about host
 * events that the driver API cannot show, so that virtual time is joined along them and so that
 * the platform knows when every rank is blocked.
 */
#ifndef SYMMCTS_PLATFORM_H_
#define SYMMCTS_PLATFORM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The marker: a driver whose object exports this symbol is the software platform. Returns 1. */
int symmcts_platform_abi(void);

/* Writes a JSON object (profile, seed, host, rank, deterministic) as a terminated string into
 * `buffer`; returns the length it needs without the terminator. May be called before cuInit, when
 * it says only {"started":false}. */
size_t symmcts_platform_info(char* buffer, size_t capacity);

/* Declares that all host traffic of this process goes through an exchange that calls the three
 * functions below. Call once, before cuInit or directly after it. A machine is deterministic while
 * every one of its clients has declared this. */
void symmcts_platform_managed(void);

/* Call before each message leaves: counts it as in flight to the receiver, whose rank on this
 * machine is `to_rank`, and returns a stamp that travels with the message: the sender's host clock
 * in its lower 48 bits, and who it is. */
uint64_t symmcts_platform_message_out(int to_rank);

/* A deadline of an hour or more is a last resort, for waits that only somebody outside could end: it
 * passes only on a machine on which the scenario has stopped a rank. Elsewhere the standstill is
 * reported instead, which tells more than a rank that gives up. */
#define SYMMCTS_PLATFORM_LAST_RESORT_NS 3600000000000ull

/* Call before blocking for messages: marks this rank as blocked outside the driver.
 * `deadline_ns` is virtual time from now, 0 for none. Returns a descriptor owned by the platform
 * that becomes readable when the block must end: the deadline has passed in virtual time (which
 * happens only when no rank can move), or another rank has ended, so that connections to it are
 * now closed. Look at all connections, call wait_end, and wait again if nothing has come and the
 * deadline has not passed. -1 when there is no such thing to wait for. */
int symmcts_platform_wait_begin(uint64_t deadline_ns);

/* Call after the block, with the stamps that came with the `count` messages taken in; count 0
 * after a deadline. Joins their clocks, orders what this rank does from now on behind what the
 * senders had seen, and marks the rank as running. Returns 1 if the deadline has passed, else 0.
 * Call for every wait_begin. */
int symmcts_platform_wait_end(const uint64_t* stamps, size_t count);

/* Call when this rank begins a phase of its work, with the name of the phase: what a scenario may
 * name to kill or stop the rank there. */
void symmcts_platform_phase(const char* phase);

/* Bytes that this process has created on a GPU, by its index on the machine; 0 before cuInit. For
 * libnvidia-ml.so.1 where no other process can be on the machine. */
uint64_t symmcts_platform_memory_used(int gpu);

#ifdef __cplusplus
}
#endif

#endif /* SYMMCTS_PLATFORM_H_ */
