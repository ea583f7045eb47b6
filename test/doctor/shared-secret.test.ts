import { describe, expect, inject } from 'vitest';
import { problemsIn, testWithSharedSecret as test } from '../support/doctor-stack.ts';

describe.runIf(inject('stack').embedded)(
  'npm run doctor, at a project that signs with its shared secret,',
  () => {
    test('finds nothing to fix when the gateway knows the secret', async ({ ownStack }) => {
      const results = await ownStack.diagnose();
      expect(problemsIn(results)).toEqual([]);
      expect(results['Access tokens']?.detail).toContain('HS256');
    });

    test.for([
      ['is another project’s', 'x'.repeat(40), /is not the secret of this project: .*JWT Keys/],
      ['is missing', '', /set SUPABASE_JWT_SECRET .*JWT Keys/],
    ] as const)('says what to do when the secret %s', async ([, secret, remedy], { ownStack }) => {
      const results = await ownStack.diagnose({ SUPABASE_JWT_SECRET: secret });
      expect(problemsIn(results)).toEqual(['Access tokens']);
      expect(results['Access tokens']?.remedy).toMatch(remedy);
    });
  },
);
