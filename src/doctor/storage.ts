import { randomBytes } from 'node:crypto';
import type { Check } from './check.ts';
import { accessToken } from './identity.ts';
import { Problem, reasonOf } from './problem.ts';
import { secretKey } from './project.ts';
import { ask, type Run } from './run.ts';

const isPublic = { audio: false, covers: true } as const;
type Bucket = keyof typeof isPublic;

export const buckets: Check = {
  name: 'Buckets',
  needs: [secretKey],
  async execute(run) {
    for (const bucket of ['audio', 'covers'] as const) {
      const key = run.config.secrets.supabaseSecretKey;
      const { status, body } = await run.ask(`/storage/v1/bucket/${bucket}`, { key });
      if (status !== 200)
        throw new Problem(
          `There is no bucket ${bucket}.`,
          'Apply the migrations (npx supabase db push --remote), or run the statement `insert into storage.buckets` of supabase/migrations in the SQL editor.',
        );
      if ((body as { public: boolean }).public !== isPublic[bucket])
        throw new Problem(
          bucket === 'audio'
            ? 'The bucket audio is public: anyone can download every sound, for ever.'
            : 'The bucket covers is private: no app can show a cover.',
          `Run in the SQL editor: update storage.buckets set public = ${isPublic[bucket]} where id = '${bucket}';`,
        );
    }
    return 'audio is private, covers is public.';
  },
};

const nameOfFile = (run: Run) => `doctor-${run.account.email.split('@')[0]}`;

/** Stores a few bytes in a bucket until the end of the run. */
async function putFile(run: Run, bucket: Bucket, type: string) {
  const name = nameOfFile(run);
  const key = run.config.secrets.supabaseSecretKey;
  const bytes = randomBytes(64);
  const path = `/storage/v1/object/${bucket}/${name}`;
  let isStored = false;
  run.defer(`the file ${name} in the bucket ${bucket}`, async () => {
    const removal = { method: 'DELETE', key, body: { prefixes: [name] } } as const;
    const { status, body } = await run.ask(`/storage/v1/object/${bucket}`, removal);
    if (status !== 200) throw new Error(`Storage answered ${status}`);
    if (isStored && Array.isArray(body) && body.length === 0) throw new Error('Storage did not remove it');
  });
  const { status } = await run.ask(path, {
    method: 'POST',
    key,
    headers: { 'Content-Type': type },
    body: bytes,
  });
  if (status !== 200)
    throw new Problem(
      `No file could be stored in the bucket ${bucket} (${status}).`,
      'Check in the dashboard, under Storage, that the bucket accepts files of this type and that the quota is not used up.',
    );
  isStored = true;
  return { name, bytes };
}

export const signedUrls: Check = {
  name: 'Signed URLs',
  needs: [buckets],
  async execute(run) {
    const { publicUrl } = run.config.supabase;
    const audio = await putFile(run, 'audio', 'audio/wav');
    const cover = await putFile(run, 'covers', 'image/png');
    const signed = await run.files.signUrl('audio', audio.name, 60);
    if (signed === null)
      throw new Problem('Storage does not find a file that was just stored.', 'Run the doctor again.');
    const addresses = {
      'A signed audio address': { url: signed, bytes: audio.bytes },
      'The public address of a cover': {
        url: `${publicUrl}/storage/v1/object/public/covers/${cover.name}`,
        bytes: cover.bytes,
      },
    };
    for (const [what, { url, bytes }] of Object.entries(addresses)) {
      const answer = await ask(url).catch((error: unknown) => {
        throw new Problem(
          `${what} cannot be fetched: ${reasonOf(error)}.`,
          'Set SUPABASE_PUBLIC_URL to the address of the project that phones reach.',
        );
      });
      if (!Buffer.isBuffer(answer.body) || !bytes.equals(answer.body))
        throw new Problem(
          `${what} returns ${answer.status} instead of the file.`,
          'Set SUPABASE_PUBLIC_URL to the address of the project that phones reach, or leave it out.',
        );
    }
    return 'A phone can fetch audio by a signed address, and covers.';
  },
};

export const imageTransformations: Check = {
  name: 'Image transformations',
  needs: [buckets],
  async execute({ config }) {
    if (!config.imageTransformations)
      return 'Not used: apps are told of the small covers that npm run import makes.';
    // 400 means that the file is missing, so transformations are on. Any other status means that they are off.
    const { status } = await ask(
      `${config.supabase.publicUrl}/storage/v1/render/image/public/covers/none.png?width=1`,
    );
    if (status === 400) return 'Storage makes covers of any size.';
    throw new Problem(
      `Storage makes no covers of other sizes (${status}), though IMAGE_TRANSFORMATIONS is true.`,
      'Switch image transformations on in the dashboard under Storage, Settings, or leave IMAGE_TRANSFORMATIONS out.',
    );
  },
};

/** Checks that users get nothing from Storage directly, because no policy allows it. */
export const storagePolicies: Check = {
  name: 'Storage policies',
  needs: [signedUrls, accessToken],
  async execute(run) {
    const headers = { apikey: run.config.supabase.publishableKey, Authorization: `Bearer ${run.token}` };
    const path = `/storage/v1/object/sign/audio/${nameOfFile(run)}`;
    const { status } = await run.ask(path, { method: 'POST', headers, body: { expiresIn: 60 } });
    if (status >= 300) return 'Users reach the files of the bucket audio through the gateway alone.';
    throw new Problem(
      'A policy lets users sign URLs of audio files without the gateway: for years, and for inactive sounds.',
      'Under Storage, Policies, in the dashboard delete the policies on storage.objects that apply to the bucket audio.',
    );
  },
};
