// Problems of a project that both the gateway and the doctor report, with their remedies.

const keysPage = 'Copy it from Project Settings, API Keys, in the dashboard';

export const rejectedPublishableKey = (status: number) => ({
  problem: `The project does not accept this publishable key (${status}).`,
  remedy: `${keysPage}.`,
});

export const rejectedSecretKey = (status: number) => ({
  problem: `The project does not accept this as a secret key (${status}).`,
  remedy: `${keysPage}, under Secret keys; a key that was deleted there no longer works.`,
});

export const missingMigrations = {
  problem: 'Some or all of the migrations have not been applied.',
  remedy: 'Apply them: npx supabase link --project-ref <ref>, then npx supabase db push --remote.',
};
