import { migrations } from './database.ts';
import { failed, NotChecked, Problem } from './result.ts';
import { ask, check } from './run.ts';

/** Maximum lag of a replica. With more, changes by an administrator seem to have no effect. */
const lagMaxSeconds = 30;

const dashboard = 'Project Settings, Data API, Source: Read Replica';

export const readReplica = check('Read replica', [migrations], async ({ config: { supabase, secrets } }) => {
  const { readUrl } = supabase;
  if (readUrl === null) throw new NotChecked('SUPABASE_READ_URL is not set: the primary answers all reads.');
  const request = { key: secrets.supabaseSecretKey };
  const { status, body } = await ask(`${readUrl}/rest/v1/rpc/replica_lag_seconds`, request).catch(
    failed(
      `${readUrl} does not answer`,
      `The primary answers all reads meanwhile. Copy SUPABASE_READ_URL from ${dashboard}, or leave it out.`,
    ),
  );
  if (status === 404)
    throw new Problem(
      'It does not have all migrations yet. The primary answers these reads meanwhile.',
      'Wait until it has caught up, and run the doctor again. If that does not help, restart the replica.',
    );
  if (status !== 200)
    throw new Problem(
      `${readUrl} answers ${status}.`,
      `Set SUPABASE_READ_URL to the address of a read replica of this project: ${dashboard}. If it is correct, look at the replica's Logs.`,
    );
  if (body === null)
    throw new Problem(
      'SUPABASE_READ_URL leads to the primary instead of a replica.',
      `A load balancer selects the nearest available database. Check the state of the replica in the dashboard, or set SUPABASE_READ_URL to the address of the replica: ${dashboard}.`,
    );
  const lag = Number(body);
  if (lag > lagMaxSeconds)
    throw new Problem(
      `It is ${Math.round(lag)} s behind the primary.`,
      'Look at Reports, Database, of the replica: it needs a larger compute size, or a long query or transaction delays it.',
    );
  return `A replica answers, ${lag.toFixed(1)} s behind the primary.`;
});
