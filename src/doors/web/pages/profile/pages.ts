import { passwordPages } from './password.ts';
import { profilePages } from './profile.ts';
import { sessionPages } from './sessions.ts';

export const pages = [...profilePages, ...passwordPages, ...sessionPages];
