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

export const unanswered = (service: 'Auth' | 'The data API', status: number) => ({
  problem: `${service} does not answer (${status}).`,
  remedy:
    'Look at https://status.supabase.com, and at Logs in the dashboard. If it lasts, restart the project under Project Settings, General.',
});

export const missingMigrations = {
  problem: 'Some or all of the migrations have not been applied.',
  remedy: 'Apply them: npx supabase link --project-ref <ref>, then npx supabase db push --remote.',
};

export const missingFunctions = (names: readonly string[]) => ({
  problem: `The database does not have these functions: ${names.join(', ')}.`,
  remedy: missingMigrations.remedy,
});
