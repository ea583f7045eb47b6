import { describe, expect, inject } from 'vitest';
import { codeSentTo, mailsTo } from '../support/mail.ts';
import { recover, resend, verify } from './sessions.ts';
import { newEmail, password, testWith } from './supabase.ts';

const limited = testWith({ emailConfirmations: true, mailGapSeconds: 60, mailsPerHour: 4 });

describe.runIf(inject('stack').embedded)('mails are limited', () => {
  limited('by a gap for each address, then by a number for the project', async ({ supabase }) => {
    const email = newEmail();
    const signUp = (address: string) =>
      supabase.call('/auth/v1/signup', { body: { email: address, password } });
    await signUp(email);
    const code = await codeSentTo(supabase.mailUrl, email);
    expect((await recover(supabase, email)).status).toBe(200);
    for (const again of [recover, resend]) {
      const { status, body } = await again(supabase, email);
      expect([status, body.code]).toEqual([429, 'over_email_send_rate_limit']);
      expect(body.message).toMatch(/^For security purposes, you can only request this after \d\d seconds\.$/);
    }
    expect((await verify(supabase, 'signup', email, code)).status).toBe(200);

    const [waiting, late] = [newEmail(), newEmail()];
    for (const address of [waiting, newEmail()]) expect((await signUp(address)).status).toBe(200);
    await supabase.sql`update auth.users set confirmation_sent_at = null, recovery_sent_at = null`;
    const refused = [await signUp(late), await recover(supabase, email), await resend(supabase, waiting)];
    for (const { status, body } of refused) {
      expect([status, body]).toEqual([
        429,
        { code: 'over_email_send_rate_limit', message: 'email rate limit exceeded' },
      ]);
    }
    // Nothing was begun: no account, no mail, and the code that was sent stays good.
    expect(await supabase.sql`select from auth.users where email = ${late}`).toHaveLength(0);
    expect(await mailsTo(supabase.mailUrl, late)).toEqual([]);
    const sent = await codeSentTo(supabase.mailUrl, waiting);
    expect((await verify(supabase, 'signup', waiting, sent)).status).toBe(200);
    // Where nothing is to be mailed, nothing is in the way.
    expect((await recover(supabase, late)).status).toBe(200);
  });
});
