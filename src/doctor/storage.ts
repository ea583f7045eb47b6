import { randomBytes } from 'node:crypto';
import { migrations } from './database.ts';
import { secretKey } from './project.ts';
import { failed, Problem, throwAll } from './result.ts';
import { ask, check, type Run } from './run.ts';

const bucketsThatShould = [
  ['audio', false, 'The bucket audio is public: anyone can download every sound, for ever.'],
  ['covers', true, 'The bucket covers is private: no app can show a cover.'],
] as const;

export const buckets = check('Buckets', [secretKey], async (run) => {
  for (const [bucket, isPublic, problem] of bucketsThatShould) {
    const { status, body } = await run.askAsService(`/storage/v1/bucket/${bucket}`);
    if (status !== 200)
      throw new Problem(
        `There is no bucket ${bucket}.`,
        'Apply the migrations (npx supabase db push --remote), or run the statement `insert into storage.buckets` of supabase/migrations in the SQL editor.',
      );
    if ((body as { public: boolean }).public !== isPublic)
      throw new Problem(
        problem,
        `Run in the SQL editor: update storage.buckets set public = ${isPublic} where id = '${bucket}';`,
      );
  }
  return 'audio is private, covers is public.';
});

const nameOfFile = (run: Run) => `doctor-${run.account.email.split('@')[0]}`;

/** Stores a short text in a bucket until the end of the run. @returns the text */
async function putFile(run: Run, bucket: string, type: string): Promise<string> {
  const name = nameOfFile(run);
  const text = `npm run doctor ${randomBytes(32).toString('hex')}`;
  const headers = { 'Content-Type': type };
  const { status } = await run.askAsService(`/storage/v1/object/${bucket}/${name}`, { headers, body: text });
  if (status !== 200)
    throw new Problem(
      `No file could be stored in the bucket ${bucket} (${status}).`,
      'Check in the dashboard, under Storage, that the bucket accepts files of this type and that the quota is not used up.',
    );
  run.defer(`the file ${name} in the bucket ${bucket}`, async () => {
    const removal = { method: 'DELETE', body: { prefixes: [name] } } as const;
    const { status, body } = await run.askAsService(`/storage/v1/object/${bucket}`, removal);
    if (status !== 200) throw new Error(`Storage answered ${status}`);
    if (Array.isArray(body) && body.length === 0) throw new Error('Storage did not remove it');
  });
  return text;
}

export const signedUrls = check('Signed URLs', [buckets], async (run) => {
  const audio = await putFile(run, 'audio', 'audio/wav');
  const cover = await putFile(run, 'covers', 'image/png');
  const signed = await run.files.signUrl('audio', nameOfFile(run), 60);
  if (signed === null) throw new Problem('Storage does not find a file that was just stored.', 'Run the doctor again.');
  const { publicUrl } = run.config.supabase;
  const remedy =
    'Set SUPABASE_PUBLIC_URL to the address of the project that phones reach, or leave it out if that is SUPABASE_URL.';
  for (const [what, url, text] of [
    ['A signed URL of audio', signed, audio],
    ['The public URL of a cover', `${publicUrl}/storage/v1/object/public/covers/${nameOfFile(run)}`, cover],
  ] as const) {
    const { status, body } = await ask(url).catch(failed(`${what} cannot be fetched`, remedy));
    if (body !== text) throw new Problem(`${what} returns ${status} instead of the file.`, remedy);
  }
  return 'A phone can fetch covers, and audio by a signed URL.';
});

export const imageTransformations = check('Image transformations', [buckets], async ({ config }) => {
  if (!config.imageTransformations) return 'Not used: apps load the small covers that npm run import makes.';
  // 400 means that the file is missing, so transformations are on. Any other status means that they are off.
  const path = '/storage/v1/render/image/public/covers/none.png?width=1';
  const { status } = await ask(config.supabase.publicUrl + path);
  if (status === 400) return 'Storage makes covers of any size.';
  throw new Problem(
    `Storage makes no covers of other sizes (${status}), though IMAGE_TRANSFORMATIONS is true.`,
    'Switch image transformations on in the dashboard under Storage, Settings, or leave IMAGE_TRANSFORMATIONS out.',
  );
});

/** Tells whether the condition of a policy limits it to buckets that the service does not use. */
const concernsOtherBuckets = (rule: string) => {
  const named = [...rule.matchAll(/bucket_id = '([^']*)'/g)].map(([, bucket]) => bucket);
  return named.length > 0 && !named.some((bucket) => bucket === 'audio' || bucket === 'covers');
};

/** Checks that users reach no file or bucket of the service at Storage directly, because no policy allows it. */
export const storagePolicies = check('Storage policies', [migrations], ({ report }) => {
  const policies = report?.file_policies ?? [];
  const onFiles = policies.filter(({ table, rule }) => table === 'storage.objects' && !concernsOtherBuckets(rule));
  const onBuckets = policies.filter(({ table }) => table === 'storage.buckets');
  const namesOf = (found: typeof policies) => found.map(({ name }) => `"${name}"`).join(', ');
  throwAll([
    onFiles.length > 0 &&
      new Problem(
        `Policies let users reach files without the gateway: ${namesOf(onFiles)}. They could sign URLs that are valid for years, or store files.`,
        'Under Storage, Policies, in the dashboard delete the policies on storage.objects that apply to the buckets audio and covers.',
      ),
    onBuckets.length > 0 &&
      new Problem(
        `Policies let users change buckets: ${namesOf(onBuckets)}. They could make the bucket audio public, or delete it.`,
        'Under Storage, Policies, in the dashboard delete these policies on storage.buckets.',
      ),
  ]);
  return 'Users reach the files of audio and covers through the gateway alone, and cannot change the buckets.';
});
