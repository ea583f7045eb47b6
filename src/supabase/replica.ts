import type { Logger } from 'pino';
import type { Answer, Fetch } from './fetch.ts';

/** Timeout of a read at the replica. The rest of its 5 s is for the primary. */
const timeoutMs = 2_000;

/** A failed replica is skipped for this long. Then one read tries it. */
const restMs = 10_000;

/**
 * Returns a fetch that sends GET requests of the data API to a read replica. The primary answers all others, and those
 * that the replica cannot answer: it may be down, lack a new migration, or have cancelled a query during replication.
 * @param url address of the project
 * @param readUrl address of a replica, or of a load balancer for several
 */
export function withReplica(fetch: Fetch, url: string, readUrl: string, log: Logger): Fetch {
  let failedAt: number | null = null;

  async function askReplica(path: string, init: RequestInit): Promise<Answer | null> {
    const isTrial = failedAt !== null;
    if (isTrial) failedAt = performance.now(); // one probe at a time
    try {
      const limited = { ...init, signal: AbortSignal.timeout(timeoutMs) };
      const answer = await fetch(readUrl + path, limited, 'replica');
      if (answer.status >= 500) throw new Error(`Answered ${answer.status}`);
      if (isTrial) log.info('The read replica answers again');
      failedAt = null;
      return answer.ok ? answer : null;
    } catch (error) {
      if (failedAt === null) log.warn({ err: error }, 'The read replica failed. The primary answers its reads');
      failedAt = performance.now();
      return null;
    }
  }

  return async (input, init = {}) => {
    const address = String(input);
    const isRead = init.method === 'GET' && address.startsWith(`${url}/rest/v1/`);
    const rests = failedAt !== null && performance.now() < failedAt + restMs;
    const answer = isRead && !rests ? await askReplica(address.slice(url.length), init) : null;
    return answer ?? fetch(input, init);
  };
}
