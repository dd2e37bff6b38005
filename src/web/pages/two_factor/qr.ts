/** A code for a telephone to read, as an image in the page: nobody else is asked to draw it. */
import { type Html, trusted } from '../../html.ts';

export const qrCode = async (text: string): Promise<Html> => {
  const { renderSVG } = await import('uqr');
  // Made of numbers alone; only the size is ours to add.
  return trusted(
    renderSVG(text, { border: 2 }).replace(
      '<svg ',
      '<svg class="qr" role="img" aria-label="QR code of the key" ',
    ),
  );
};
