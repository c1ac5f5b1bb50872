import { expect, it } from 'vitest';
import { jsonSchema, schemaIsCurrent } from '../../src/config/json-schema.ts';

it('the published schema is current (else run `node bin/node.mjs src/config/json-schema.ts`)', () => {
  expect(schemaIsCurrent()).toBe(true);
});

it('knows the form of the file', () => {
  expect(jsonSchema()).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    required: ['rollups'],
    additionalProperties: false,
    properties: {
      rollups: {
        additionalProperties: {
          required: ['gold', 'bronze', 'window', 'measures', 'watermark', 'seal', 'publish'],
          properties: {
            publish: { required: ['policy'], properties: { policy: { enum: ['auto', 'grace', 'review'] } } },
            allowed_lateness: {
              anyOf: [{ type: ['string', 'number'] }, { required: ['column', 'default'] }],
            },
          },
        },
      },
    },
  });
});
