import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { LOCAL_KEYS } from '../dev/keys.ts';

export type User = { id: string; email: string; token: string };

const secret = new TextEncoder().encode(LOCAL_KEYS.jwtSecret);

async function createUser(index: number): Promise<User> {
  const id = randomUUID();
  const email = `user-${index}@example.com`;
  // All that Supabase Auth puts into a token: its length is part of the work.
  const token = await new SignJWT({
    iss: 'http://127.0.0.1:54321/auth/v1',
    sub: id,
    aud: 'authenticated',
    email,
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: {
      email,
      email_verified: true,
      full_name: `User ${index}`,
      phone_verified: false,
      sub: id,
    },
    role: 'authenticated',
    aal: 'aal1',
    amr: [{ method: 'password', timestamp: 1_780_000_000 }],
    session_id: randomUUID(),
    is_anonymous: false,
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(secret);
  return { id, email, token };
}

/** Users with tokens that are signed with the shared secret. */
export const createUsers = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => createUser(index)));
