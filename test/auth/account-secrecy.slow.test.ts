import { describe, expect } from 'vitest';
import { canConfirm, noConfirmations, testWithConfirmations } from '../support/project.ts';
import {
  calls,
  expectSameTime,
  inTurn,
  type Kind,
  kinds,
  makeAddress,
  rounds,
  see,
} from './secret-accounts.ts';

const test = testWithConfirmations({ TRUST_PROXY: '1', SIGN_UP_LIMIT_PER_HOUR: '1000' });
test.beforeEach(({ skip }) => skip(!canConfirm(), noConfirmations));

const names = Object.keys(calls) as (keyof typeof calls)[];

describe('whether an address has an account', () => {
  test('shows neither in statuses, bodies and headers nor in the time of any answer', async ({
    project: { api, url },
    sql,
  }) => {
    for (const call of names) {
      const took: Record<Kind, number[]> = { unknown: [], unconfirmed: [], confirmed: [], banned: [] };
      const seen = new Set<string>();
      for (let round = 0; round < rounds; round++) {
        const made = await Promise.all(
          inTurn(kinds, round).map(async (kind) => ({ kind, email: await makeAddress(url, sql, kind) })),
        );
        // At once, so that the machine is as busy for each, and no others with them, which would wait for each other.
        const asked = made.map(async ({ kind, email }) => {
          const answer = await see(api, call, email, `198.51.100.${round}`);
          took[kind].push(answer.took);
          seen.add(answer.seen);
        });
        await Promise.all(asked);
      }
      expect([...seen], call).toHaveLength(1);
      const { unknown, banned, ...others } = took;
      // Auth rejects the banned before it looks at the code: some milliseconds sooner.
      const known = call.startsWith('verify') ? others : { ...others, banned };
      for (const [kind, times] of Object.entries(known)) expectSameTime(`${call}, ${kind}`, times, unknown);
    }
  });
});
