/** Writes calendars (RFC 5545) of events that take a whole day. */
import { RawPage } from '../../page.ts';

export type CalendarEvent = {
  /** Unique in the world, and the same in each answer. */
  uid: string;
  title: string;
  /** `YYYY-MM-DD` */
  day: string;
  url: string;
  /** Plain text. */
  description: string;
  /** Milliseconds. */
  updated: number;
};

/** Bytes of a line, without its end. */
const maxLine = 75;

const escapeText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    // oxlint-disable-next-line no-control-regex -- these are what it removes
    .replaceAll(/[\0-\t\u000B-\u001F\u007F]/g, ' ')
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n');

/** Splits a line: each further one begins with a space. No character is cut. */
const fold = (line: string): string => {
  const parts: string[] = [];
  let [part, bytes] = ['', 0];
  for (const character of line) {
    const length = Buffer.byteLength(character);
    if (bytes + length > maxLine) {
      parts.push(part);
      [part, bytes] = ['', 1];
    }
    part += character;
    bytes += length;
  }
  return [...parts, part].join('\r\n ');
};

/** `20261203T101500Z` */
const toStamp = (time: number): string =>
  new Date(time).toISOString().replaceAll(/[-:]/g, '').replace(/\.\d+/, '');

const toDate = (day: string): string => day.replaceAll('-', '');

const eventLines = ({ uid, title, day, url, description, updated }: CalendarEvent): string[] => [
  'BEGIN:VEVENT',
  `UID:${escapeText(uid)}`,
  `DTSTAMP:${toStamp(updated)}`,
  `DTSTART;VALUE=DATE:${toDate(day)}`,
  `SUMMARY:${escapeText(title)}`,
  ...(description === '' ? [] : [`DESCRIPTION:${escapeText(description)}`]),
  `URL:${url}`,
  'TRANSP:TRANSPARENT',
  'END:VEVENT',
];

/** Renders a calendar as an answer. @param description of the calendar; empty: none */
export const calendar = (name: string, events: readonly CalendarEvent[], description: string): RawPage => {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Gantry//Due dates//EN',
    'CALSCALE:GREGORIAN',
    `X-WR-CALNAME:${escapeText(name)}`,
    ...(description === '' ? [] : [`X-WR-CALDESC:${escapeText(description)}`]),
    ...events.flatMap(eventLines),
    'END:VCALENDAR',
  ];
  return new RawPage(`${lines.map(fold).join('\r\n')}\r\n`, {
    'content-type': 'text/calendar; charset=utf-8',
    'content-security-policy': "default-src 'none'; sandbox",
  });
};
