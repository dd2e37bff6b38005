/** Deviations from the API contract that some clients need. */
import type { Field } from './parse_values.ts';

/** `decimal-strings`: decimal numbers are sent as text, `"1.0"`. */
const compatibilities = ['decimal-strings'] as const;
type Compatibility = (typeof compatibilities)[number];

export type CompatConfig = { compat: Compatibility[] };

const readCompatibilities = (text: string): Compatibility[] => {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.map((name) => {
    const compatibility = compatibilities.find((one) => one === name);
    if (compatibility !== undefined) return compatibility;
    throw new Error(`has "${name}", which is not one of ${compatibilities.join(', ')}`);
  });
};

export const compatFields: { [N in keyof CompatConfig]: Field<CompatConfig[N]> } = {
  compat: {
    variable: 'GANTRY_COMPAT',
    default: '',
    meaning:
      'deviations for certain clients, separated by commas: decimal-strings sends decimal numbers as text, such as "1.0"',
    read: readCompatibilities,
  },
};
