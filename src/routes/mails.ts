import type { Logger } from 'pino';
import type { Context } from '../context.ts';
import type { CodeType } from '../supabase/accounts.ts';

/** Notes for the operator that Auth sent no mail: the client must not learn it. */
export const mailNotSent =
  ({ metrics }: Context, log: Logger, type: CodeType) =>
  (why: object) => {
    metrics?.mailNotSent();
    log.warn({ ...why, type }, 'Supabase Auth sent no mail');
  };
