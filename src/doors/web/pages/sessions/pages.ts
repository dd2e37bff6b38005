import { signInPages } from './sign_in.ts';
import { signOutPages } from './sign_out.ts';

export const pages = [...signInPages, ...signOutPages];
