/** Timeout of events in milliseconds. Only a hang takes longer, even on a busy machine. */
export const timeoutMs = 300_000;
