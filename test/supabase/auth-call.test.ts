import { expect, inject } from 'vitest';
import { codeSentTo } from '../support/mail.ts';
import { testWithProject } from '../support/project.ts';
import { newEmail, password } from '../support/test.ts';

const test = testWithProject({ captcha: true, emailConfirmations: true });

// The project of TEST_SUPABASE_URL may not have CAPTCHA protection.
test.runIf(inject('stack').embedded)(
  'the gateway signs up, confirms, signs in and recovers while Auth requires a CAPTCHA',
  async ({ project: { api, mailUrl, url } }) => {
    const email = newEmail();
    const direct = await fetch(`${url}/auth/v1/signup`, {
      method: 'POST',
      headers: { apikey: inject('stack').publishableKey, 'X-Supabase-Api-Version': '2024-01-01' },
      body: JSON.stringify({ email, password }),
    });
    expect([direct.status, await direct.json()]).toMatchObject([400, { code: 'captcha_failed' }]);

    await api.post('/auth/signup').send({ email, password }).expect(200);
    const confirmation = { type: 'signup', email, code: await codeSentTo(mailUrl, email), password };
    await api.post('/auth/verify').send(confirmation).expect(200);
    await api.post('/auth/signin').send({ email, password }).expect(200);
    await api.post('/auth/recover').send({ email }).expect(200);
    await api.post('/auth/resend').send({ email }).expect(200);
  },
);
