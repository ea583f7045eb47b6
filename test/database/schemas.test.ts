import { test } from 'vitest';
import { expectDeclared } from './declared.ts';

test('the migrations make what the schema files declare', () => expectDeclared(17));
