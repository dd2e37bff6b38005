import { fileInput } from '../form.ts';
import type { FormProblems } from '../form_problems.ts';
import type { Html } from '../html.ts';

/** Renders the field that uploads an avatar. */
export const avatarInput = (problems: FormProblems, isRequired = true): Html =>
  fileInput({
    name: 'avatar',
    label: isRequired ? 'Picture' : 'Picture (optional)',
    hint: 'PNG, JPEG, GIF, WebP or ICO, at most 200 KiB. Square images look best.',
    accept: 'image/png,image/jpeg,image/gif,image/webp,image/x-icon',
    required: isRequired,
    problems,
  });
