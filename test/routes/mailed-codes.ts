import { inject } from 'vitest';
import type { Api } from '../support/api.ts';
import { codeSentTo } from '../support/mail.ts';
import { password } from '../support/test.ts';

export const { mailUrl } = inject('stack');
export const noMail = 'Set TEST_SUPABASE_MAIL_URL to read the mails of that Supabase.';

export const newPassword = 'another correct horse';

export async function recoveryCode(api: Api, email: string): Promise<string> {
  await api
    .post('/auth/recover')
    .send({ email })
    .expect(200, { data: { ok: true } });
  return codeSentTo(mailUrl, email);
}

export const verify = (api: Api, email: string, code: string, type = 'recovery') =>
  api.post('/auth/verify').send({ type, email, code, ...(type === 'signup' && { password }) });

export const other = (code: string) => String((Number(code) + 1) % 10 ** code.length).padStart(code.length, '0');
