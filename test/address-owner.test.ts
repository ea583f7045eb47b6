import { describe, expect, inject } from 'vitest';
