/** Renders an error page. */
import type { View } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { plainLayout } from './layout.ts';

export type Wrong = {
  status: number;
  /** Message of the failure, where it is meant for people. */
  reason: string | null;
  requestId: string;
  /** Path of the page of Gantry that led here; null: none. */
  back: string | null;
};

type Text = { title: string; text: string };

const texts: Record<number, Text> = {
  403: {
    title: 'Not allowed',
    text: 'You do not have permission to do this. Ask an owner or an administrator for access.',
  },
  404: {
    title: 'Not found',
    text: 'The page does not exist, or you do not have access to it. Check the address, or sign in.',
  },
  405: { title: 'Not possible', text: 'This address does not support this request method.' },
  413: { title: 'Too large', text: 'The request is too large.' },
  422: {
    title: 'The form was not accepted',
    text: 'The form has expired or was not sent from this site. Nothing was changed. Go back, reload the page and submit it again.',
  },
  429: { title: 'Too many attempts', text: 'Wait a moment, then try again.' },
  500: {
    title: 'Something went wrong',
    text: 'An unexpected error occurred. Your change may not have been saved.',
  },
  503: { title: 'Not available', text: 'The service cannot answer at the moment. Try again soon.' },
};

const unknown: Text = { title: 'The request failed', text: 'The request could not be read.' };

const reference = ({ status, requestId }: Wrong): Html | null =>
  status < 500
    ? null
    : html`<p>If it happens again, give your administrator this number: <code>${requestId}</code></p>`;

/** Renders the people to ask for access. */
const peoplePart = (people: readonly Person[]): Html | null =>
  people.length === 0
    ? null
    : html`<p>Who can give you access: ${people.map(
        ({ name, username }, at) => html`${at > 0 && ', '}<a href="/${username}">${name}</a>`,
      )}.</p>`;

type Person = { name: string; username: string };

const backPart = ({ back }: Wrong): Html | false =>
  back !== null && html`<a class="button" href="${back}">Go back</a>`;

/** Renders an error in the frame of a signed-in user. @param people people to ask for access */
export const errorView = (wrong: Wrong, people: readonly Person[]): View => {
  const { title, text } = texts[wrong.status] ?? unknown;
  // They are signed in already.
  const words = wrong.status === 404 ? 'The page does not exist, or you do not have access to it.' : text;
  return {
    title,
    status: wrong.status,
    body: html`<div class="error-page"><h1>${title}</h1>
<p>${wrong.reason ?? words}</p>
${peoplePart(people)}
<div class="buttons">${backPart(wrong)}<a class="button" href="/">Go to the start page</a></div></div>`,
  };
};

/** Renders an error for a visitor who may not be signed in. */
export const errorPage = (wrong: Wrong): string => {
  const { title, text } = texts[wrong.status] ?? unknown;
  const body = html`<div class="error-page"><h1>${title}</h1>
<p>${wrong.reason ?? text}</p>
${reference(wrong)}
<div class="buttons">${backPart(wrong)}<a class="button" href="/">Go to the start page</a><a class="button" href="/users/sign_in">Sign in</a></div></div>`;
  return plainLayout({ title, body });
};
