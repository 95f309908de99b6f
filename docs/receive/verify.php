<?php

// Verifies a signed webhook with PHP's own extensions alone (hash and json, which are always there). PHP 8.1 or newer.

declare(strict_types=1);

namespace Webhook;

const TOLERANCE = 300; // seconds, in either direction
const MAX_BODY = 16 * 1024 * 1024; // bytes

/** The delivery is refused. The message is one of the fifteen codes. */
final class VerificationError extends \RuntimeException
{
}

/**
 * Returns the event, or throws a VerificationError.
 *
 * @param ?string $rawBody the bytes as they came in: file_get_contents('php://input')
 * @param array<string, string> $headers as getallheaders() has them
 * @param list<string> $secrets eight at most
 * @param int $now Unix seconds
 */
function verify(?string $rawBody, array $headers, array $secrets, int $now): array
{
    if (count($secrets) > 8) {
        throw new \InvalidArgumentException('at most 8 secrets');
    }
    refuseUnless(strlen($rawBody ?? '') <= MAX_BODY, 'invalid_payload');
    refuseUnless($rawBody !== null && $rawBody !== '', 'missing_body');
    $usable = array_filter($secrets, fn ($secret) => matches($secret, '/^whsec_[!-~]{1,506}$/D'));
    refuseUnless($secrets !== [] && count($usable) === count($secrets), 'invalid_secret');
    $headers = array_change_key_case($headers, CASE_LOWER);
    $timestamp = $headers['service-timestamp'] ?? '';
    refuseUnless(matches($timestamp, '/^[0-9]{10}$/D'), 'invalid_timestamp');
    refuseUnless(abs($now - (int) $timestamp) <= TOLERANCE, 'stale_timestamp');
    $signature = trim($headers['service-signature'] ?? '', " \t");
    refuseUnless($signature !== '', 'missing_signature');
    refuseUnless(isSigned($signature, $timestamp, $rawBody, $secrets), 'invalid_signature');
    $event = parse($rawBody);
    refuseUnless(($headers['service-event-id'] ?? '') === $event['id'], 'event_id_mismatch');
    return $event;
}

function refuseUnless(bool $condition, string $code): void
{
    if (!$condition) {
        throw new VerificationError($code);
    }
}

function matches(mixed $value, string $pattern): bool
{
    return is_string($value) && preg_match($pattern, $value) === 1;
}

function isSigned(string $signature, string $timestamp, string $rawBody, array $secrets): bool
{
    if (strlen($signature) > 16384) {
        return false;
    }
    $found = false;
    foreach ($secrets as $secret) {
        $expected = 'v1=' . hash_hmac('sha256', "$timestamp.$rawBody", $secret);
        foreach (explode(',', $signature) as $item) {
            // In constant time; and all are compared, whichever is right.
            $found = hash_equals($expected, trim($item, " \t")) || $found;
        }
    }
    return $found;
}

/**
 * json_decode, without what it accepts beyond the contract: infinite numbers and repeated names. It makes arrays of
 * objects, because \stdClass cannot have every name.
 */
function parse(string $rawBody): array
{
    $event = json_decode($rawBody, true, 128); // 127 brackets and what they hold
    refuseUnless(json_last_error() === JSON_ERROR_NONE, 'invalid_json');
    check($event, findObjects($rawBody));
    return $event;
}

// (Possessive: no stack for long strings.)
const TOKEN = '/\G[\s,:a-z]*+(?:("(?:[^"\\\\]++|\\\\.)*+")([ \t\r\n]*+:)?+|([\[{])|([\]}])|([-+.0-9eE]++))/s';

/**
 * The objects of the envelope, each as a set of its names: '0:' is the event, '1:data' its member, '2:object' that of
 * data. The text is JSON already.
 */
function findObjects(string $text): array
{
    $objects = [];
    $open = []; // for each open bracket: its key in $objects, or null
    $unique = true;
    $name = null;
    for ($at = 0; preg_match(TOKEN, $text, $token, PREG_UNMATCHED_AS_NULL, $at); $at += strlen($token[0])) {
        [, $string, $colon, $opening, $closing, $number] = $token + array_fill(0, 6, null);
        $parent = end($open);
        if ($colon !== null) {
            $name = json_decode($string);
            if (in_array($parent, ['0:', '1:merchant', '1:data'], true)) {
                $unique = $unique && !isset($objects[$parent][$name]);
                $objects[$parent][$name] = true;
            }
        } elseif ($opening !== null) {
            $isKnown = $open === [] || $parent === '0:' || $parent === '1:data';
            $key = $opening === '{' && $isKnown ? count($open) . ":$name" : null;
            if ($key !== null) {
                $objects[$key] ??= [];
            }
            $open[] = $key;
        } elseif ($closing !== null) {
            array_pop($open);
        }
        refuseUnless($number === null || is_finite((float) $number), 'invalid_json');
    }
    refuseUnless($unique, 'invalid_payload');
    return $objects;
}

/** The members of the envelope, in the order of the codes. Unknown members and unknown types pass. */
function check(mixed $event, array $objects): void
{
    refuseUnless(isset($objects['0:']), 'invalid_payload');
    foreach (['sequence', 'resource_version'] as $name) {
        refuseUnless(!isset($event[$name]) || isInteger($event[$name]), 'invalid_payload');
    }
    refuseUnless(!isset($event['livemode']) || is_bool($event['livemode']), 'invalid_payload');
    foreach (['recipient', 'links'] as $name) {
        refuseUnless(!isset($event[$name]) || isset($objects["1:$name"]), 'invalid_payload');
    }
    refuseUnless(matches($event['id'] ?? null, '/^evt_[0-9A-Za-z_-]{1,124}$/D'), 'invalid_event_id');
    $type = $event['type'] ?? null;
    $isType = matches($type, '/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$/D') && strlen($type) <= 128;
    refuseUnless($isType, 'invalid_event_type');
    refuseUnless(isDate($event['api_version'] ?? null), 'invalid_api_version');
    refuseUnless(isTime($event['created_at'] ?? null), 'invalid_created_at');
    $isMerchant = isset($objects['1:merchant'])
        && matches($event['merchant']['id'] ?? null, '/^mer_[0-9A-Za-z_-]{1,124}$/D')
        && matches($event['merchant']['slug'] ?? null, '/^[^\x00-\x1f\x7f-\x{9f}]{1,128}$/Du');
    refuseUnless($isMerchant, 'invalid_merchant');
    refuseUnless(isset($objects['1:data'], $objects['2:object']), 'invalid_data');
}

function isInteger(mixed $value): bool
{
    return (is_int($value) || is_float($value)) && floor($value) == $value && $value >= 0 && $value < 2 ** 53;
}

function isDate(mixed $value): bool
{
    return matches($value, '/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/D')
        && checkdate((int) substr($value, 5, 2), (int) substr($value, 8, 2), (int) substr($value, 0, 4));
}

function isTime(mixed $value): bool
{
    return matches($value, '/^.{10}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/D')
        && isDate(substr($value, 0, 10));
}
