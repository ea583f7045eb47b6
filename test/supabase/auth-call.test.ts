import { describe, expect, inject } from 'vitest';
import { codeSentTo } from '../support/mail.ts';
import { testWithProject } from '../support/project.ts';
import { newEmail, password } from '../support/test.ts';

const test = testWithProject({ captcha: true, emailConfirmations: true });

// A project given by the environment need not have CAPTCHA protection.
describe.runIf(inject('stack').embedded)('where Auth asks for a CAPTCHA', () => {
  test('apps sign up, confirm, sign in and recover through the gateway', async ({ project }) => {
    const { api, mailUrl } = project;
    const email = newEmail();
    const code = () => codeSentTo(mailUrl, email);
    await api.post('/auth/signup').send({ email, password }).expect(200);
    const confirmation = { type: 'signup', email, code: await code(), password };
    const { body } = await api.post('/auth/verify').send(confirmation).expect(200);
    await api.post('/auth/refresh').send({ refresh_token: body.data.refresh_token }).expect(200);
    await api.post('/auth/signin').send({ email, password }).expect(200);
    await api.post('/auth/recover').send({ email }).expect(200);
    await api.post('/auth/resend').send({ email }).expect(200);
  });

  test('Auth rejects sign-ups, passwords and mails with the publishable key', async ({ project }) => {
    const paths = ['signup', 'token?grant_type=password', 'otp', 'recover', 'resend', 'magiclink'];
    for (const path of paths) {
      const response = await fetch(`${project.url}/auth/v1/${path}`, {
        method: 'POST',
        headers: { apikey: inject('stack').publishableKey, 'X-Supabase-Api-Version': '2024-01-01' },
        body: JSON.stringify({ email: newEmail(), password }),
      });
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        400,
        { code: 'captcha_failed' },
      ]);
    }
  });
});
