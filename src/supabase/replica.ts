import type { Logger } from 'pino';

/** Timeout of the replica. The primary then has the rest of the 5 s of a read. */
const timeoutMs = 2_000;

/** Time for which a failed replica is skipped. One read then tries it again. */
const restMs = 10_000;

/** Response whose body has arrived, in parts. */
export interface WholeAnswer {
  readonly status: number;
  readonly parts: readonly Buffer[];
}

type Ask = (url: string, init: RequestInit, service: 'replica') => Promise<WholeAnswer>;

/**
 * Creates the reads at a read replica. The caller asks the primary for what the replica cannot answer: it may be down,
 * lack a new migration, or have cancelled a query during replication.
 * @param readUrl address of a replica, or of a load balancer for several
 * @returns a function that resolves to the response with status 200, or to null
 */
export function createReplica(ask: Ask, readUrl: string, log: Logger) {
  let failedAt: number | null = null;

  return async (path: string, init: RequestInit): Promise<WholeAnswer | null> => {
    const isResting = failedAt !== null && performance.now() < failedAt + restMs;
    if (isResting) return null;
    const isTrial = failedAt !== null;
    if (isTrial) failedAt = performance.now(); // skips the replica for other reads until this one has ended
    try {
      const answer = await ask(readUrl + path, { ...init, signal: AbortSignal.timeout(timeoutMs) }, 'replica');
      if (answer.status >= 500) throw new Error(`Answered ${answer.status}`);
      if (isTrial) log.info('The read replica answers again');
      failedAt = null;
      return answer.status === 200 ? answer : null; // at a 4xx, the primary may answer, or has the error for the client
    } catch (error) {
      if (failedAt === null) log.warn({ err: error }, 'The read replica failed. The primary answers its reads');
      failedAt = performance.now();
      return null;
    }
  };
}
