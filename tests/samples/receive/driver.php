<?php

// Reads deliveries (cases.mjs) from standard input and prints what the sample in PHP says of each.

declare(strict_types=1);

require "$argv[1]/verify.php";

function decode(string $field): ?string
{
    return $field === '-' ? null : base64_decode($field, true);
}

function judge(string $line): string
{
    [$body, $timestamp, $signature, $eventId, $now, $secrets] = explode("\t", $line);
    $headers = array_filter([
        'Service-Timestamp' => decode($timestamp),
        'Service-Signature' => decode($signature),
        'Service-Event-Id' => decode($eventId),
    ], fn ($value) => $value !== null);
    $secrets = $secrets === '-' ? [] : array_map('decode', explode(',', $secrets));
    try {
        $event = Webhook\verify(decode($body), $headers, $secrets, (int) $now);
    } catch (Webhook\VerificationError $error) {
        return $error->getMessage();
    } catch (InvalidArgumentException) {
        return 'configuration';
    }
    return "ok\t" . base64_encode(json_encode($event, JSON_FORCE_OBJECT | JSON_THROW_ON_ERROR));
}

while (($line = fgets(STDIN)) !== false) {
    echo judge(rtrim($line, "\n")), "\n";
}
