import { accessToken, account } from './identity.ts';
import { publishableKey, secretKey } from './project.ts';
import { NotChecked, Problem, Warning } from './result.ts';
import { check, type Run } from './run.ts';

// Checks switches of Auth that its settings do not publish, by calls that change nothing.

const versioned = { 'X-Supabase-Api-Version': '2024-01-01' };

const codeOf = (body: unknown) => (body as { code?: unknown } | null)?.code;

export const oauthServer = check('OAuth server', [publishableKey], async (run) => {
  const { status } = await run.ask('/auth/v1/.well-known/oauth-authorization-server');
  if (status !== 200) return 'It is switched off.';
  throw new Problem(
    'The OAuth server is switched on: apps of others can ask users for tokens. Only the database keeps them from opening sessions.',
    'Switch it off under Authentication, OAuth Server, in the dashboard.',
  );
});

export const web3 = check('Web3 wallets', [secretKey], async (run) => {
  for (const chain of ['solana', 'ethereum']) {
    const body = { chain, message: 'npm run doctor', signature: '' };
    const answer = await run.askAsService('/auth/v1/token?grant_type=web3', { headers: versioned, body });
    if (answer.status === 400 && codeOf(answer.body) === 'validation_failed')
      throw new Warning(
        `Sign-in with ${chain} wallets is switched on: only the database rejects their accounts, which have no e-mail address.`,
        'Switch off Web3 Wallet under Authentication, Sign In / Providers, in the dashboard.',
      );
  }
  return 'Auth accepts none.';
});

/** Names a provider that does not exist, because Auth checks the switch first. */
export const manualLinking = check('Manual linking', [accessToken], async (run) => {
  const path = '/auth/v1/user/identities/authorize?provider=none&skip_http_redirect=true';
  const { status, body } = await run.ask(path, { headers: versioned, token: run.token });
  if (codeOf(body) === 'manual_linking_disabled') return 'It is switched off.';
  if (status !== 400) throw new NotChecked(`Auth answers ${status} to a request to link an identity.`);
  throw new Warning(
    'It is switched on: a thief of an access token can link an identity of their own. Only the database limits that to verified addresses of the account.',
    'Switch off "Allow manual linking" under Authentication, Sign In / Providers, in the dashboard.',
  );
});

/** Number of digits of mailed codes as in docs/deploy.md. Shorter codes can be guessed at Auth. */
const codeDigits = 8;

/** Asks for the code that Auth would mail to the temporary account. It shows the code and mails nothing. */
async function mailedCode(run: Run): Promise<string> {
  const body = { type: 'recovery', email: run.account.email };
  const answer = await run.askAsService('/auth/v1/admin/generate_link', { body });
  const code = (answer.body as { email_otp?: unknown } | null)?.email_otp;
  if (typeof code === 'string') return code;
  throw new NotChecked(`Auth answers ${answer.status} to a request for a code.`);
}

export const mailedCodes = check('Mailed codes', [account], async (run) => {
  const { length } = await mailedCode(run);
  if (length >= codeDigits)
    return `They have ${length} digits. Whether refresh tokens are rotated cannot be checked from here: it must be on under Authentication, Sessions.`;
  throw new Problem(
    `Mailed codes have ${length} digits: they can be guessed directly at Auth.`,
    `Set "Email OTP length" to ${codeDigits} under Authentication, Sign In / Providers, Email, in the dashboard.`,
  );
});
