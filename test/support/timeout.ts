/** How long tests await an event: only what hangs takes longer, also on a machine with much else to do. Milliseconds. */
export const timeoutMs = 300_000;
